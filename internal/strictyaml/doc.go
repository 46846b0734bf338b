// Package strictyaml parses files of one YAML document that people write or strangers
// provide: configurations, manifests, front matter, scripts. It bounds depth and size
// before the parser allocates, refuses text that the parser would refuse without a place,
// and describes each syntax error in plain words with its line and column.
//
// It returns the nodes of go.yaml.in/yaml/v4; what keys and values mean, and which aliases
// and tags are allowed, is decided by the caller. All functions are pure and safe for
// concurrent use.
package strictyaml
