"""A kept conversation as a document: Markdown for a code host, one page of HTML for anybody."""
