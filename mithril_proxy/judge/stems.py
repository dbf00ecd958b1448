"""Stems: what remains of an English word without its endings, so that forms of one word are equal."""

from __future__ import annotations

from functools import lru_cache

import snowballstemmer

_REMEMBERED = 65_536
# Irregular forms that the Snowball rules leave apart and that memories use.
_IRREGULAR_FORMS = """
men:man women:woman children:child feet:foot teeth:tooth mice:mouse went:go gone:go ran:run sat:sit stood:stand
lying:lie laid:lie swam:swim flew:fly flown:fly rode:ride drove:drive driven:drive wrote:write written:write
won:win lost:lose sold:sell bought:buy gave:give given:give took:take taken:take sent:send kept:keep held:hold
led:lead built:build sang:sing sung:sing began:begin begun:begin fell:fall fallen:fall rose:rise risen:rise
grew:grow grown:grow died:die dying:die left:left does:do did:do done:do made:make met:meet paid:pay said:say
spoke:speak spent:spend wore:wear worn:wear ate:eat eaten:eat drank:drink drunk:drunk came:come became:become
"""
_IRREGULAR = dict(pair.split(":") for pair in _IRREGULAR_FORMS.split())


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    bare = word[:-2] if word.endswith("'s") else word
    if bare in _IRREGULAR:
        return _IRREGULAR[bare]
    # A stemmer keeps the word it works on, so each call has its own: threads may stem at once.
    return str(snowballstemmer.stemmer("english").stemWord(bare))


def stem_phrase(phrase: str) -> str:
    """The stems of a lower-case word or phrase, joined by single spaces."""
    return " ".join(stem(word) for word in phrase.split())
