"""Tests of deployments, part by part."""
