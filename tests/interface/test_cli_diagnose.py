"""`varlaw diagnose`: the table of symptoms, one of them, and refusals."""

import json

import pytest

from varlaw.derivations.catalogue import entries
from varlaw.derivations.diagnosis import SYMPTOMS, UnknownSymptom, symptom


def test_the_rows_refer_to_laws_of_the_catalogue() -> None:
    names = [row.name for row in SYMPTOMS]
    assert len(set(names)) == len(names) >= 20
    for row in SYMPTOMS:
        assert row.laws and set(row.laws) <= set(entries()), row
        assert all((row.when, row.seen, row.cause, row.check, row.healthy, row.remedy))


def test_the_table(varlaw) -> None:
    result = varlaw("diagnose")
    assert result.code == 0
    for row in SYMPTOMS:
        assert row.name in result.out
        assert row.laws[0] in result.out


@pytest.mark.parametrize("row", SYMPTOMS, ids=lambda row: row.name)
def test_one_symptom(varlaw, row) -> None:
    shown = " ".join(varlaw("diagnose", row.name).out.split())
    for fact in (row.seen, row.cause, row.check, row.remedy):
        assert fact in shown
    (found,) = json.loads(varlaw("diagnose", row.name, "--json").out)["symptoms"]
    assert found["laws"] == list(row.laws)


def test_an_unknown_symptom(varlaw) -> None:
    said = varlaw("diagnose", "activations-halv").refused()
    assert said == "unknown symptom 'activations-halv'; did you mean 'activations-halve'?"
    with pytest.raises(UnknownSymptom, match="`varlaw diagnose` lists them"):
        symptom("fever")
