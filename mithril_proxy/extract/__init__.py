"""Text of PDF, DOCX, XLSX and PPTX files, read in a process of its own with bounds on memory, time and output.

The text that comes out is what is judged AND what is forwarded, so what a reader misses never becomes memory.

- `kinds.document_kind(filename, content)` says whether a file is such a document.
- `process.Extractor(bounds).text(kind, content)` gives its text; raises `NoText` with one word of reason.
- `readers` turn one open document into text; `worker` is the other side of the pipe.
"""
