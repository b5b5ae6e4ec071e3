"""YAML -> frozen structs, with file:line:column on every error; JSON Schema out."""
