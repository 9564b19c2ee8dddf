"""Function words of a few languages: in a question they say nothing about what is looked for.

Folded as the index folds. The lists are short on purpose: rarity does the rest.
"""

from __future__ import annotations

_ENGLISH = """
a about after again all also am an and any are as at back be because been before being both but by can could did didn do
does doing don done down during each either else ever every few first for from get gets getting got had has have having he
her here hers him his how i if in instead into is it its itself just kind last later let like lot made make makes making
many may me might more most much must my need needed never no nor not now of off ok on once one ones only or other our out
over own please rather really same session she should since so some something sort still such than that the their them
then there these they thing things think this those through to too up us use used using very want wanted was we went were
what when where whether which while who whole whose why will with without would yes yet you your
i'm i'd i've we've we'd it's don't didn't doesn't wasn't couldn't wouldn't can't that's there's where's what's
wanted trying tried asked asking
"""
_RUSSIAN = """
а без был была были было быть в вам вас ведь во вот все всё всех вы где да даже для до его ее её если есть еще ещё же за и из
или им их к как какая какие какой когда которая которое которые который кто ли либо мне много мог можно мой мы на над надо нам
нас наш не него нее неё нет ни них но ну о об однако он она они оно от очень по под потом почему при про с сам свой себя сейчас
со так также такой там те тем теперь то тогда тоже только том тот ту тут ты у уже хотел хотела чего чем через что чтоб чтобы эта
эти это этого этой этом этот эту я сессия сессии где-то там-то
"""
_GERMAN = """
aber alle als also am an auch auf aus bei beim bin bis bitte da damit dann das dass dem den der des dich die dies diese dieser
dieses doch dort du durch ein eine einem einen einer eines er es etwas fur gab habe haben hat hatte hier ich ihm ihn ihr im in
ins ist ja jetzt kann kein keine konnte man mehr mein mich mir mit muss nach nicht noch nun nur ob oder ohne schon sein sich sie
sind so soll sollte uber um und uns unser unter vom von vor war waren was weil wenn wer wie wieder will wir wird wo wollte zu
zum zur
"""
_ROMANCE = """
al alla au aux avec aveva avec c'est ce cela ces cette che chez ci com como con cosa d da dal dans das de dei del della delle
des di do donde dos du e el ella elle elles em en era es essa esse est esta este et etait eu fait fue gli ha haber hay i il ils
io je la las le lei les leur lo los lui ma mais mas me mi mon muy na nao ne no nos notre nous o on os ou oui para pas per perche
pero plus por porque pour que quel quelle qui quoi sa se si sin sobre son sont su sua sul sur te tout tu um uma un una une uno
unos vous y yo
"""
_NORTH = """
av at bara blir da de dem den denna dessa det detta dig din ditt dos efter eller en er ett fra for fran ha hade han har hon hur i
ikke inte ja jag jeg kan man med men mig min mot nar nej och og om op pa ska skulle som sa til till under upp ut var vi vid vil
aan als bij dat deze die dit door een en er het hij hoe ik in is je kan maar met mijn naar niet nog nu of om ook op over te tot
uit van voor was wat we wel werd wij ze zijn zo ei en ja joka kun mutta niin oli on se tai vai az es egy hogy is nem
bir bu ve ile icin da de mi ne gibi cok daha
"""

_EAST = "的 了 在 是 和 有 我 我们 这个 那个 什么 怎么 一个 没有 还是 就是 可以 した する です ます ない こと もの ため から"

FUNCTION_WORDS = frozenset(
    word.replace("ё", "е") for text in (_ENGLISH, _RUSSIAN, _GERMAN, _ROMANCE, _NORTH, _EAST) for word in text.split()
)
