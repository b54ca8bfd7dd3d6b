"""One module a page: from what was asked to what its template needs. None of them knows HTTP."""
