"""Corpora: documents in files become shards of ids, with a manifest that says how they were made.

Nothing here is imported by `import tokpar`."""

from tokpar.corpus.audit import audit
from tokpar.corpus.audit_report import AuditReport, CheckResult, Fault
from tokpar.corpus.stats import LengthStats, StatsReport, stats

__all__ = ["AuditReport", "CheckResult", "Fault", "LengthStats", "StatsReport", "audit", "stats"]
