"""The independent checker of encodings, and certificates as JSON."""

from tokpar.certificate.checker import check, seam_findings
from tokpar.certificate.report import CheckReport, Finding
from tokpar.certificate.stored import StoredCertificate, from_json, to_json

__all__ = [
    "CheckReport",
    "Finding",
    "StoredCertificate",
    "check",
    "from_json",
    "seam_findings",
    "to_json",
]
