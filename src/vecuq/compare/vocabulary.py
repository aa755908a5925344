"""Words with a role: stop words, negations, number words, units. English first, some of other languages."""

from __future__ import annotations

# Words that say which way (before, under, more, May) are content and not here; so are those of other languages that are
# English content words (die, war, hat, son).
_ENGLISH = """
a an the this that these those it its he she they them his her their i you we me my your our him who whom whose
which what when where why how is are was were be been being am do does did done have has had having will would shall
should can could might must of in on at by for from to into onto with as and or but if then than so such also too
very just there here about each other some any own s t d ll m re ve because while during between through per via
think believe guess say said answer final result sure certainly probably likely definitely actually simply therefore
thus hence indeed called named known located situated well ok okay please based according
"""
_OTHERS = """
der das den dem des ein eine einen einem einer eines ist sind waren und oder aber von vom zu zum zur im
auf nach aus es er sie wir ich du ihr sich als auch wird wurde haben antwort lautet
le la les l un une du de et ou est sont etait c ce cette ces il elle ils elles nous vous je tu se qui que dans
avec au aux n reponse el lo una unos unas del y o es fue por para su sus respuesta al en
gli uno di da dei della delle nel nella sono che e risposta si os um uma dos das na nas ao sao ser
и в на \u0441 по это он она они мы вы я что как был была было были к из \u0443 от для ответ
"""
# The particles of Chinese and Japanese that stand beside almost any word.
_CHARACTERS = "是的了在和也着就都而及与這这那個个はがのをにでとすまだてした"
_NEGATIONS = """
not no never without none neither nobody nothing cannot nowhere nicht kein keine keinen keinem keiner nie pas
    jamais aucun aucune nunca jamas non nao не нет никогда 不 没 沒 無 无 未 非"""
NEGATIONS = frozenset(_NEGATIONS.split())
PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis")
STOP_WORDS = frozenset((*_ENGLISH.split(), *_OTHERS.split(), *_CHARACTERS)) - NEGATIONS
_YES, _NO = "yes yeah yep yup ja oui si da да 是", "no nope nah nein non nao нет 不"
LEADS = dict.fromkeys(_YES.split(), "yes") | dict.fromkeys(_NO.split(), "no")
_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_MONTHS = "january february march april may june july august september october november december"
SPELT = {word: value for value, word in enumerate(_ONES.split())}
TENS = {word: 10 * k for k, word in enumerate(_TENS.split(), start=2)}
SCALES = {"dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
MONTHS = _MONTHS.split()
SYMBOLS = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
SYMBOLS |= {"<": "<", ">": ">", "≤": "≤", "≥": "≥"}
# Follows a single letter that is no stop word: "m" is one as in "I'm", and not in "5 m".
MARK = "\u02bc"
_SPELLINGS = {
    "mg": "milligram milligrams milligramme milligrammes",
    "g": "gram grams gramme grammes",
    "kg": "kilogram kilograms kilo kilos kilogramme",
    "km": "kilometer kilometers kilometre kilometres kms",
    "m": f"meter meters metre metres m{MARK}",
    "cm": "centimeter centimeters centimetre centimetres",
    "mm": "millimeter millimeters millimetre millimetres",
    "ml": "milliliter milliliters millilitre millilitres",
    "l": f"liter liters litre litres l{MARK}",
    "h": "hour hours hr hrs",
    "min": "minute minutes mins",
    "sec": f"second seconds secs s{MARK}",
    "celsius": f"centigrade c{MARK}",
    "fahrenheit": "f",
    "percent": "percents percentage pct",
    "dollar": "dollars usd bucks",
    "euro": "euros eur",
    "pound": "pounds gbp",
    "usa": "us u.s. america",
}
UNITS = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings.split()}
_IRREGULAR = {
    "write": "wrote written",
    "win": "won",
    "go": "went gone",
    "make": "made",
    "find": "found",
    "sing": "sang sung",
    "draw": "drew drawn",
    "build": "built",
    "give": "gave given",
    "take": "took taken",
    "begin": "began begun",
    "become": "became",
    "lead": "led",
    "leave": "left",
    "lose": "lost",
    "meet": "met",
    "sell": "sold",
    "speak": "spoke spoken",
    "teach": "taught",
    "buy": "bought",
    "fly": "flew flown",
    "grow": "grew grown",
    "break": "broke broken",
    "choose": "chose chosen",
    "fall": "fell fallen",
    "rise": "rose risen",
}
IRREGULAR = {form: verb for verb, forms in _IRREGULAR.items() for form in forms.split()}
UNITS |= {unit: unit for unit in _SPELLINGS} | {month[:3]: month for month in MONTHS if month != "may"}
UNITS |= {month: month for month in MONTHS} | {"sept": "september"}
