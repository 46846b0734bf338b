package script

import (
	"bytes"
	"math"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// formVersion is the version of both forms. Another one is refused: an older
// program would play a script wrongly.
const formVersion = 1

// script is one file that was read. It isn't changed afterwards.
type script struct {
	file     string
	title    string // the display name
	context  int
	instant  bool
	tools    ability
	images   ability
	schema   ability
	thinking ability
	recorded []*response // in the order of the file, `at` counted from 0
	written  []*response
}

// ability is a capability as a script says it.
type ability struct {
	known   provider.Known
	refuses bool // a request that uses it is refused
}

// parse reads a script of either form. file names it in problems.
func parse(file string, data []byte, l limits) (*script, error) {
	d := &decoder{limits: l}
	s := &script{
		file:  file,
		tools: ability{known: provider.Yes}, images: ability{known: provider.Yes},
		schema: ability{known: provider.Yes},
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > l.bytes {
		d.add(0, 0, "the file is larger than "+size(l.bytes))
		return nil, d.err(file)
	}
	if isRecorded(file, data) {
		d.recorded = true
		d.lines(s, jsonlNodes(data, l, &d.problems))
	} else if root := yamlNodes(data, l, &d.problems); root != nil {
		d.document(s, root)
	}
	if len(d.problems) == 0 && len(s.recorded)+len(s.written) == 0 {
		d.add(0, 0, "the script has no responses")
	}
	if err := d.err(file); err != nil {
		return nil, err
	}
	s.settle()
	return s, nil
}

// isRecorded tells the form of a file.
func isRecorded(file string, data []byte) bool {
	name := strings.ToLower(file)
	if strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson") {
		return true
	}
	object, ok := bytes.CutPrefix(bytes.TrimSpace(data[:min(len(data), 1<<10)]), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimSpace(object), []byte(`"fettle_script"`))
}

const headerKeys = "fettle_script model pace instant context_length capabilities"

// document reads a written script.
func (d *decoder) document(s *script, root *node) {
	var responses *node
	var pace time.Duration
	d.mapping(root, "a script", headerKeys+" responses", func(k, v *node) bool {
		if k.text == "responses" {
			responses = v
			return true
		}
		return d.header(s, &pace, k, v)
	})
	if responses == nil || d.foreign {
		if len(d.problems) == 0 {
			d.at(root, "the script has no responses")
		}
		return
	}
	d.list(responses, "responses", "a list", func(n *node) { d.response(s, pace, n) })
}

// lines reads a recorded script.
func (d *decoder) lines(s *script, nodes []*node) {
	var pace time.Duration
	for i, n := range nodes {
		switch {
		case d.full():
			return
		case isHeader(n):
			into, p := s, &pace
			if i > 0 {
				into, p = &script{}, new(time.Duration)
			}
			d.mapping(n, "a header", headerKeys, func(k, v *node) bool { return d.header(into, p, k, v) })
			if d.foreign {
				return
			}
		case i == 0:
			d.at(n, `expected a header such as {"fettle_script":%d} in front of the responses`, formVersion)
			return
		default:
			d.response(s, pace, n)
		}
	}
}

// isHeader tells a header from a response.
func isHeader(n *node) bool { return n.kind == mapNode && hasKey(n, "fettle_script") }

// header reads one of the keys that a script says of itself.
func (d *decoder) header(s *script, pace *time.Duration, k, v *node) bool {
	switch k.text {
	case "fettle_script":
		if v.kind != numberNode || v.text != "1" {
			d.foreign = true
			d.at(v, "fettle_script: this program reads version %d, found %s", formVersion, v.describe())
		}
	case "model":
		s.title = d.text(v, k.text)
	case "pace":
		*pace = d.wait(v, k.text)
	case "instant":
		s.instant = d.yes(v, k.text)
	case "context_length":
		s.context = int(d.count(v, k.text, 1, math.MaxInt32))
	case "capabilities":
		d.capabilities(s, v)
	default:
		return false
	}
	return true
}

func (d *decoder) capabilities(s *script, n *node) {
	d.mapping(n, "capabilities", strings.Join(features(), " "), func(k, v *node) bool {
		switch provider.Feature(k.text) {
		case provider.FeatureTools:
			s.tools = d.ability(k, v)
		case provider.FeatureImages:
			s.images = d.ability(k, v)
		case provider.FeatureThinking:
			s.thinking = d.ability(k, v)
		case provider.FeatureSchema:
			s.schema = d.ability(k, v)
			if s.schema.known == provider.No {
				s.schema.refuses = false // it is asked for in words
			}
		default:
			return false
		}
		return true
	})
}

func (d *decoder) ability(k, v *node) ability {
	switch d.word(v, k.text, []string{"yes", "no", "unknown", "refuses", "true", "false"}) {
	case "yes", "true":
		return ability{known: provider.Yes}
	case "no", "false":
		return ability{known: provider.No, refuses: true}
	case "refuses":
		return ability{refuses: true}
	}
	return ability{}
}

// settle counts the places of a script that has no problems.
func (s *script) settle() {
	if len(s.recorded) > 0 {
		lowest := s.recorded[0].at
		for _, r := range s.recorded {
			lowest = min(lowest, r.at)
		}
		for _, r := range s.recorded {
			r.at -= lowest
		}
	}
	plain := 0
	for _, r := range s.written {
		if r.when == nil && r.system == nil && r.seen == nil && r.step == anyStep {
			r.order = plain
			plain++
		}
	}
}
