"""What `tokpar_corpus` gives its users."""

from __future__ import annotations

from tokpar_corpus.audit_report import AuditReport, CheckResult, Fault
from tokpar_corpus.auditing import audit
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.building import BuildStoppedError, build, manifest_of
from tokpar_corpus.length_stats import LengthStats, StatsReport, stats
from tokpar_corpus.manifest import Manifest
from tokpar_corpus.verifying import VerifyReport, verify

__all__ = [
    "AuditReport",
    "BuildStoppedError",
    "CheckResult",
    "Fault",
    "LengthStats",
    "Manifest",
    "Progress",
    "StatsReport",
    "VerifyReport",
    "audit",
    "build",
    "manifest_of",
    "stats",
    "verify",
]
