"""Languages and regions: the only place that knows their codes, names and aliases.

`language("Brazilian Portuguese") == "pt-BR"`, `region("South Korea") == "KR"`, `region("Catalonia") == "ES-CT"`; an
unknown value is refused with a suggestion. The data are those of langcodes (CLDR and the IANA registry) and pycountry
(ISO); the tables here hold only what these do not know.
"""

from mores.culture.languages import (
    RTL_SCRIPTS,
    UNSPACED,
    accepts,
    base_language,
    is_rtl,
    language,
    language_name,
    local_region_name,
    macrolanguage,
    main_language,
    script,
)
from mores.culture.mentions import Mention, mentions, mentions_country
from mores.culture.regions import countries, country, region, region_name, roll_up

__all__ = [
    "RTL_SCRIPTS",
    "UNSPACED",
    "Mention",
    "accepts",
    "base_language",
    "countries",
    "country",
    "is_rtl",
    "language",
    "language_name",
    "local_region_name",
    "macrolanguage",
    "main_language",
    "mentions",
    "mentions_country",
    "region",
    "region_name",
    "roll_up",
    "script",
]
