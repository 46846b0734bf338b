package manifest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"

	"go.yaml.in/yaml/v4"
)

const (
	tagText  = "!!str"
	tagInt   = "!!int"
	tagFloat = "!!float"
	tagBool  = "!!bool"
	tagNull  = "!!null"
	tagTime  = "!!timestamp"
	tagMerge = "!!merge"
)

// strict refuses what YAML allows and a manifest doesn't. It is false where
// there are more values than anyone will look at.
func (r *reader) strict(n *yaml.Node, pointer string) bool {
	if r.nodes++; r.nodes > maxNodes {
		r.report(n, pointer, CodeTooLarge, fmt.Sprintf("it holds more than %d values", maxNodes))
		return false
	}
	if tagged(n) {
		r.report(n, pointer, CodeTag, "the tag "+show(tagOf(n))+" is not read here; write the value plainly, or in quotes")
		return true
	}
	switch n.Kind {
	case yaml.AliasNode:
		r.report(n, pointer, CodeAlias, "the alias "+show("*"+n.Value)+" is not read here; write the value out")
	case yaml.MappingNode:
		return r.strictMapping(n, pointer)
	case yaml.SequenceNode:
		for i, e := range n.Content {
			if !r.strict(e, item(pointer, i)) {
				return false
			}
		}
	case yaml.ScalarNode:
		r.strictScalar(n, pointer)
	}
	return true
}

// tagged tells whether a node has a tag that was written, a lone ! included,
// which makes text of what would be a number.
func tagged(n *yaml.Node) bool { return n.Style&yaml.TaggedStyle != 0 || n.Tag == "!" }

func tagOf(n *yaml.Node) string {
	if n.Tag == "!" {
		return n.Tag
	}
	return n.ShortTag()
}

func (r *reader) strictMapping(n *yaml.Node, pointer string) bool {
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := under(pointer, key.Value)
		r.nodes++
		switch {
		case key.Kind == yaml.AliasNode:
			r.report(key, pointer, CodeAlias, "the alias "+show("*"+key.Value)+" is not read here; write the key out")
		case tagged(key):
			r.report(key, pointer, CodeTag, "the tag "+show(tagOf(key))+" is not read here")
		case key.Kind == yaml.ScalarNode && key.ShortTag() == tagMerge:
			r.report(key, pointer, CodeAlias, "<< is not read here; write the fields out")
		case key.Kind != yaml.ScalarNode || key.ShortTag() != tagText && key.ShortTag() != tagTime:
			r.report(key, pointer, CodeKey, "a key is text; put it in quotes if it is meant so")
		case seen[key.Value] > 0:
			r.report(key, at, CodeDuplicateKey, fmt.Sprintf("%s is there twice, first in line %d", show(key.Value), seen[key.Value]))
		default:
			seen[key.Value] = key.Line
		}
		if !r.strict(value, at) {
			return false
		}
	}
	return true
}

var decimal = sync.OnceValues(func() (whole, number *regexp.Regexp) {
	return regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`), regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
})

// strictScalar refuses numbers that readers of YAML and JSON differ on.
func (r *reader) strictScalar(n *yaml.Node, pointer string) {
	whole, number := decimal()
	switch tag := n.ShortTag(); {
	case tag == tagInt || tag == tagFloat && whole.MatchString(n.Value):
		_, err := strconv.ParseInt(n.Value, 10, 64)
		switch {
		case !whole.MatchString(n.Value):
			r.report(n, pointer, CodeNumber, "readers of YAML differ on the number "+show(n.Value)+
				"; write it with decimal digits alone, or put it in quotes if it is text")
		case err != nil:
			r.report(n, pointer, CodeNumber, "the number "+show(n.Value)+" doesn't fit into 64 bits")
		}
	case tag == tagFloat:
		f, err := strconv.ParseFloat(n.Value, 64)
		switch {
		case !number.MatchString(n.Value) && (err != nil || math.IsNaN(f) || math.IsInf(f, 0)):
			r.report(n, pointer, CodeNumber, show(n.Value)+" is no number that JSON can hold")
		case !number.MatchString(n.Value):
			r.report(n, pointer, CodeNumber, "readers of YAML differ on the number "+show(n.Value)+
				"; write it as 0.5 or 1e9 are written, or put it in quotes if it is text")
		}
	case tag == tagText && n.Style == 0 && number.MatchString(n.Value): // too large for the parser's float
		r.report(n, pointer, CodeNumber, "the number "+show(n.Value)+" is out of range; put it in quotes if it is text")
	case !knownScalar(tag):
		r.report(n, pointer, CodeTag, "expected text, a number, true, false or null, found "+show(tag))
	}
}

func knownScalar(tag string) bool {
	switch tag {
	case tagText, tagInt, tagFloat, tagBool, tagNull, tagTime:
		return true
	}
	return false
}
