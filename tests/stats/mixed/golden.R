# Makes wine.csv, ratings.csv and golden.json: the numbers that test_mixed.py compares with.
#
# Run in this folder: Rscript golden.R
# Made with R 4.2.2, ordinal 2022.11.16, emmeans 1.8.4.1, performance 0.10.2, insight 0.19.0, jsonlite 1.8.4.
# Wine: R. A. Randall, The analysis of sensory data by generalised linear model, Biometrical Journal 31 (1989), 781-793.

suppressMessages({
  library(ordinal)
  library(emmeans)
  library(performance)
})

tight <- clmm.control(gradTol = 1e-6, maxIter = 500)

simulate_ratings <- function() {
  # Five languages, four annotators of each, twelve questions that everyone sees; a model * type interaction.
  set.seed(20240917)
  d <- expand.grid(
    model = c("opus", "turbo", "mix"), question = 1:12, annotator = 1:4, language = c("de", "fj", "hi", "ki", "yo"),
    stringsAsFactors = FALSE
  )
  d <- d[runif(nrow(d)) < 0.85, ]
  d$type <- ifelse(d$question %% 3 == 0, "specific", "agnostic")
  d$length <- round(rnorm(nrow(d), 180, 60))
  nest <- paste(d$language, d$annotator)
  language <- setNames(rnorm(5, 0, 0.8), unique(d$language))
  annotator <- setNames(rnorm(20, 0, 0.6), unique(nest))
  question <- rnorm(12, 0, 0.5)
  latent <- c(opus = 0, turbo = 0.9, mix = -1.8)[d$model] - 1.1 * (d$type == "specific") +
    0.6 * (d$model == "turbo" & d$type == "specific") + 0.7 * (d$model == "mix" & d$type == "specific") +
    0.004 * (d$length - 180) + language[d$language] + annotator[nest] + question[d$question] + rlogis(nrow(d))
  d$rating <- findInterval(latent, c(-2.2, -1, 0.2, 1.9)) + 1
  d$question <- paste0("q", d$question)
  d$annotator <- paste0("a", d$annotator)
  d[, c("rating", "model", "type", "length", "language", "annotator", "question")]
}

write.csv(wine[, c("rating", "temp", "contact", "bottle", "judge")], "wine.csv", row.names = FALSE, quote = FALSE)
write.csv(simulate_ratings(), "ratings.csv", row.names = FALSE, quote = FALSE)
ratings <- read.csv("ratings.csv")
ratings$rating <- ordered(ratings$rating)
ratings$model <- factor(ratings$model, levels = c("opus", "turbo", "mix"))
for (name in c("type", "language", "annotator", "question")) ratings[[name]] <- factor(ratings[[name]])

table_of <- function(fit) {
  s <- coef(summary(fit))
  lapply(setNames(seq_len(nrow(s)), rownames(s)), function(i) unname(s[i, 1:4]))
}

numbers <- function(fit) {
  out <- list(
    coefficients = table_of(fit), log_likelihood = as.numeric(logLik(fit)), aic = AIC(fit), rows = nobs(fit)
  )
  if (inherits(fit, "clmm")) {
    out$variances <- lapply(VarCorr(fit), function(v) as.numeric(v))
    out$modes <- lapply(ranef(fit), function(r) as.list(setNames(r[[1]], rownames(r))))
    # Nakagawa & Schielzeth (2013): fixed / (fixed + random + pi^2 / 3), with and without random in the numerator.
    fixed <- var(as.vector(model.matrix(fit$formula_fixed, fit$model)[, names(fit$beta), drop = FALSE] %*% fit$beta))
    random <- sum(unlist(out$variances))
    out$r2_formula <- c(fixed, fixed + random) / (fixed + random + pi^2 / 3)
    # A variance of exactly zero makes performance leave the random effects out altogether.
    if (min(unlist(out$variances)) > 0) {
      r2 <- r2_nakagawa(fit)
      out$r2_performance <- unname(c(r2$R2_marginal, r2$R2_conditional))
    }
  }
  out
}

fit_clmm <- function(formula, fixed, data) {
  fit <- do.call(clmm, list(formula = formula, data = data, control = tight))
  fit$formula_fixed <- fixed
  fit
}

means_of <- function(fit, specs, by = NULL) {
  m <- emmeans(fit, specs, by = by, mode = "latent")
  frame <- function(x) {
    f <- as.data.frame(summary(x))
    f[] <- lapply(f, function(column) if (is.factor(column)) as.character(column) else column)
    f
  }
  list(
    means = frame(m),
    none = frame(pairs(m, adjust = "none")),
    tukey = frame(pairs(m, adjust = "tukey")),
    bonferroni = frame(pairs(m, adjust = "bonferroni"))
  )
}

wine_clm <- clm(rating ~ temp + contact, data = wine)
wine_judge <- fit_clmm(rating ~ temp + contact + (1 | judge), ~ temp + contact, wine)
wine_interaction <- fit_clmm(rating ~ temp * contact + (1 | judge) + (1 | bottle), ~ temp * contact, wine)
wine_null <- fit_clmm(rating ~ 1 + (1 | judge), ~ 1, wine)
nested <- fit_clmm(rating ~ model * type + length + (1 | language / annotator), ~ model * type + length, ratings)
crossed <- fit_clmm(
  rating ~ model + type + (1 | language / annotator) + (1 | question), ~ model + type, ratings
)
# One annotator of each language, as in the human evaluation of CaLMQA: the two terms of the nesting are the same.
alike <- fit_clmm(rating ~ model + (1 | language / annotator), ~ model, ratings[ratings$annotator == "a1", ])
nested_clm <- clm(rating ~ model * type + length, data = ratings)

golden <- list(
  fits = list(
    wine_clm = numbers(wine_clm), wine_judge = numbers(wine_judge), wine_interaction = numbers(wine_interaction),
    wine_null = numbers(wine_null), nested = numbers(nested), crossed = numbers(crossed),
    alike = numbers(alike), nested_clm = numbers(nested_clm)
  ),
  means = list(
    wine_temp = means_of(wine_judge, "temp"),
    nested_model = means_of(nested, "model"),
    nested_simple = means_of(nested, "model", by = "type"),
    nested_cells = means_of(nested, c("type", "model")),
    crossed_model = means_of(crossed, "model"),
    clm_model = means_of(nested_clm, "model")
  )
)
writeLines(jsonlite::toJSON(golden, digits = 10, auto_unbox = TRUE, pretty = TRUE), "golden.json")
