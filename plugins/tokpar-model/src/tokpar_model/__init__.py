"""Level `model` of a check: ids proved from the tokenizer's file alone, without any call of it."""

from tokpar_model.model_proof import file_findings as file_findings
from tokpar_model.model_proof import model_findings as model_findings
