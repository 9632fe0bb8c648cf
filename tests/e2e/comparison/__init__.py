"""The same requests to two servers, and how their answers differ."""
