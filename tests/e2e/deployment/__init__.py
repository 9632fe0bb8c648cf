"""What is deployed, part by part."""
