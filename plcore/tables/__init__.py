"""Tables: files of many forms -> LabelTable, checked whole; roles of columns, media, features, the stored file."""
