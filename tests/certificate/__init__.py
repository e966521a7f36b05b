"""Tests of the certificate's checker and of certificates as files."""
