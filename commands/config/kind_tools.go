package config

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// Network is what commands get of the network.
type Network struct {
	All   bool
	Hosts []string // api.example.com, *.example.com, with a port or without
}

// setting is the network as the file would have it.
func (n Network) setting() any {
	switch {
	case n.All:
		return "all"
	case len(n.Hosts) == 0:
		return "none"
	}
	return slices.Clone(n.Hosts)
}

func networkKind() kind {
	const want = "expected a host, such as api.example.com or *.example.com:8080"
	return kind{
		name: "none | all | list of hosts", tags: []string{tagText}, list: true, want: want,
		wants: "expected none, all or a list of hosts, such as [proxy.golang.org, *.example.com]",
		parse: func(s string) (any, error) {
			if s == "" || len(s) > maxHost+len(":65535") || !word(strings.TrimPrefix(s, "*."), ".-_:[]") {
				return nil, errors.New(want)
			}
			return s, nil
		},
		word: func(s string) (any, bool) {
			switch strings.ToLower(s) {
			case "all":
				return Network{All: true}, true
			case "none":
				return Network{}, true
			}
			return nil, false
		},
		gather: func(elems []string) any { return Network{Hosts: elems} },
	}
}

func namesKind() kind {
	const want = "expected the name of a variable, such as GOFLAGS"
	return kind{
		name: "list of names", tags: []string{tagText}, list: true, want: want,
		wants: "expected a list of names, such as [GOFLAGS, API_KEY]",
		parse: func(s string) (any, error) {
			if !word(s, "_") || s[0] >= '0' && s[0] <= '9' || len(s) > maxRef {
				return nil, errors.New(want)
			}
			return s, nil
		},
	}
}

func pathsKind() kind {
	const want = "expected an absolute path"
	return kind{
		name: "list of paths", tags: []string{tagText}, list: true, want: want,
		wants: "expected a list of absolute paths, such as [/opt/data]",
		parse: func(s string) (any, error) {
			if !filepath.IsAbs(s) || !plain(s) || len(s) > maxRule {
				return nil, errors.New(want)
			}
			return filepath.Clean(s), nil
		},
	}
}

func baseURLKind() kind {
	return kind{
		name: "address", tags: []string{tagText}, want: wantBaseURL,
		parse: func(s string) (any, error) { return parseBaseURL(s) },
	}
}
