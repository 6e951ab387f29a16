# Makes golden.json: what R's ordinal says about the people in ../mixed/ratings.csv, which test_raters.py compares with.
#
# Run in this folder: Rscript golden.R
# Made with R 4.2.2, ordinal 2022.11.16, jsonlite 1.8.4.

suppressMessages(library(ordinal))

tight <- clmm.control(gradTol = 1e-6, maxIter = 500)
ratings <- read.csv("../mixed/ratings.csv")
ratings$model <- factor(ratings$model, levels = c("opus", "turbo", "mix"))
ratings$rating <- ordered(ratings$rating)
ratings$person <- factor(paste(ratings$language, ratings$annotator))
# Each person's rows in the order of the file, from -1/2 to 1/2.
ratings$progress <- ave(seq_len(nrow(ratings)), ratings$person, FUN = function(n) (seq_along(n) - 1) / (length(n) - 1) - 0.5)
for (name in c("type", "language", "question")) ratings[[name]] <- factor(ratings[[name]])

numbers <- function(fit) {
  s <- coef(summary(fit))
  list(
    coefficients = lapply(setNames(seq_len(nrow(s)), rownames(s)), function(i) unname(s[i, 1:2])),
    log_likelihood = as.numeric(logLik(fit)),
    variances = lapply(VarCorr(fit), function(v) as.numeric(v)),
    modes = lapply(ranef(fit), function(r) as.list(setNames(r[[1]], rownames(r)))),
    conditional_variances = lapply(condVar(fit), function(r) as.list(setNames(r[[1]], rownames(r))))
  )
}

# People crossed with questions; and without the rating 3, as if nobody had ever used it.
crossed <- clmm(rating ~ model * type + (1 | person) + (1 | question), data = ratings, control = tight)
unused <- droplevels(ratings[ratings$rating != 3, ])
unused <- clmm(rating ~ model + type + (1 | person) + (1 | question), data = unused, control = tight)
# A slope on the progress of everybody, and one of the first person alone.
ratings$first <- ifelse(ratings$person == "de a1", ratings$progress, 0)
everybody <- clmm(rating ~ model * type + progress + (1 | person) + (1 | question), data = ratings, control = tight)
first <- clmm(rating ~ model * type + first + (1 | person) + (1 | question), data = ratings, control = tight)

golden <- list(crossed = numbers(crossed), unused = numbers(unused), everybody = numbers(everybody), first = numbers(first))
writeLines(jsonlite::toJSON(golden, digits = 8, auto_unbox = TRUE, pretty = TRUE), "golden.json")
