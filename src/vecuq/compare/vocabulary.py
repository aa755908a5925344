"""Words with a role: stop words, negations, number words, units. English first, some of other languages."""

from __future__ import annotations

_ENGLISH = """
a an the this that these those it its he she they them his her their i you we me my your our us him who whom whose
which what when where why how is are was were be been being am do does did done have has had having will would shall
should can could may might must of in on at by for from to into onto with as and or but if then than so such also too
very just there here about over under up down out off again further once both each more most other some any only own
same s t d ll m re ve because while during before after between through against per via
think believe guess say said answer final result sure certainly probably likely definitely actually simply therefore
thus hence indeed called named known located situated well ok okay please based according
"""
_OTHERS = """
der die das den dem des ein eine einen einem einer eines ist sind war waren und oder aber von vom zu zum zur im am an
auf fur mit bei nach aus es er sie wir ich du ihr sich als auch wird wurde hat haben antwort lautet
le la les l un une des du de et ou est sont etait c ce cette ces il elle ils elles nous vous je tu se qui que dans sur
pour par avec au aux plus reponse
el los las lo una unos unas del y o es son era fue por para con su sus se respuesta al en
il lo gli i uno di da dei della delle del nel nella sono per che e risposta si
os um uma dos das do na nos nas no ao sao ser
и в на с по это он она они мы вы я что как был была было были к из у от для ответ
"""
# The particles of Chinese and Japanese that stand beside almost any word.
_CHARACTERS = "是的了在和也着就都而及与這这那個个は が の を に で と も です ます だ て し た".replace(" ", "")
_NEGATIONS = """not no never without none neither nobody nothing cannot nowhere nicht kein keine keinen keinem keiner nie pas
    jamais aucun aucune nunca jamas non nao не нет никогда 不 没 沒 無 无 未 非"""
NEGATIONS = frozenset(_NEGATIONS.split())
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
SYMBOLS |= {"<": "<", ">": ">", "≤": "≤", "≥": "≥", "≠": "≠"}
_SPELLINGS = {
    "mg": "milligram milligrams milligramme milligrammes",
    "g": "gram grams gramme grammes",
    "kg": "kilogram kilograms kilo kilos kilogramme",
    "km": "kilometer kilometers kilometre kilometres kms",
    "m": "meter meters metre metres",
    "cm": "centimeter centimeters centimetre centimetres",
    "mm": "millimeter millimeters millimetre millimetres",
    "ml": "milliliter milliliters millilitre millilitres",
    "l": "liter liters litre litres",
    "h": "hour hours hr hrs",
    "min": "minute minutes mins",
    "sec": "second seconds secs",
    "percent": "percents percentage pct",
    "dollar": "dollars usd bucks",
    "euro": "euros eur",
    "pound": "pounds gbp",
    "usa": "us u.s. america",
}
UNITS = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings.split()}
UNITS |= {unit: unit for unit in _SPELLINGS} | {month[:3]: month for month in MONTHS if month != "may"}
UNITS |= {month: month for month in MONTHS} | {"sept": "september"}
