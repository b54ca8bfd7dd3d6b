"""The only package that uses pygit2 or runs git."""
