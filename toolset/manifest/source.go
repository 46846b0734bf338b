package manifest

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/strictyaml"
)

// The bounds of a file. A node of YAML takes some three hundred bytes, so a
// quarter of a megabyte of commas would take thirty megabytes; maxMarks stops
// it before it is parsed. What people write has a mark every eight bytes in
// the densest part.
const (
	MaxSize  = 256 << 10
	maxDepth = 64
	maxMarks = 40_000
	maxNodes = 20_000
)

// load returns the top node of a file.
func load(data []byte) (*yaml.Node, *Problem) {
	if len(data) > MaxSize {
		return nil, &Problem{Code: CodeTooLarge, Message: fmt.Sprintf("the file has %d bytes; a manifest has %d at most", len(data), MaxSize)}
	}
	top, p := strictyaml.Parse(data, strictyaml.Options{Subject: "a manifest", MaxDepth: maxDepth, MaxMarks: maxMarks, Portable: true})
	if p != nil {
		return nil, &Problem{Line: p.Line, Column: p.Column, Code: yamlCode(p.Kind), Message: p.Msg}
	}
	if top == nil {
		return nil, &Problem{Code: CodeEmptyManifest, Message: `the file is empty; a manifest begins with manifest_version: "1"`}
	}
	return top, nil
}

func yamlCode(k strictyaml.Kind) string {
	switch k {
	case strictyaml.TooLarge:
		return CodeTooLarge
	case strictyaml.Alias:
		return CodeAlias
	case strictyaml.Tag:
		return CodeTag
	}
	return CodeYAML
}
