package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// The recorded form as it is written. The loader is the other half of it.
type (
	deltaLine struct {
		Wait        string             `json:"wait,omitempty"`
		Batch       []deltaLine        `json:"batch,omitempty"`
		Reasoning   *string            `json:"reasoning,omitempty"`
		Details     json.RawMessage    `json:"reasoning-details,omitempty"`
		Content     *string            `json:"content,omitempty"`
		Call        *callLine          `json:"tool-call,omitempty"`
		Annotations *[]json.RawMessage `json:"annotations,omitempty"`
		Meta        *metaLine          `json:"meta,omitempty"`
		Footnote    *string            `json:"footnote,omitempty"`
	}
	callLine struct {
		ID   string          `json:"id,omitempty"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args,omitempty"`
	}
	metaLine struct {
		Model         string       `json:"model,omitempty"`
		Usage         *event.Usage `json:"usage,omitempty"`
		StopReason    string       `json:"stop_reason,omitempty"`
		ContextLength int          `json:"context_length,omitempty"`
	}
	errorLine struct {
		Kind       string `json:"kind"`
		Status     int    `json:"status,omitempty"`
		Message    string `json:"message,omitempty"`
		RetryAfter string `json:"retry_after,omitempty"`
		Feature    string `json:"feature,omitempty"`
	}
)

// lineOf gives a delta as it is written.
func lineOf(d *provider.Delta) (l deltaLine, err error) {
	switch d.Kind {
	case provider.Reasoning:
		l.Reasoning = &d.Text
	case provider.Content:
		l.Content = &d.Text
	case provider.Footnote:
		l.Footnote = &d.Text
	case provider.ReasoningDetails:
		if l.Details = d.Details; l.Details == nil {
			l.Details = json.RawMessage("null")
		}
	case provider.Annotations:
		all := d.Annotations
		if all == nil {
			all = []json.RawMessage{}
		}
		l.Annotations = &all
	case provider.CallDelta:
		if d.Call == nil {
			return l, errors.New("a tool call that isn't there")
		}
		l.Call = &callLine{ID: d.Call.ID, Name: d.Call.Name, Args: d.Call.Args}
	case provider.Meta:
		if d.Meta == nil {
			return l, errors.New("a meta that isn't there")
		}
		l.Meta = &metaLine{
			Model: d.Meta.Model, Usage: d.Meta.Usage,
			StopReason: d.Meta.StopReason, ContextLength: d.Meta.ContextLength,
		}
	default:
		return l, fmt.Errorf("a delta of the kind %s", shown(string(d.Kind)))
	}
	return l, nil
}

// errorOf gives an error as it is written. What an error wraps is left out: it
// may name addresses, and only Message is promised to hold no key.
func errorOf(err error) errorLine {
	var e *provider.Error
	if !errors.As(err, &e) {
		return errorLine{Kind: kindOf(provider.Broken).name}
	}
	l := errorLine{
		Kind: kindOf(e.Kind).name, Message: clean(e.Message),
		RetryAfter: waitOf(e.RetryAfter),
	}
	if e.Status >= leastStatus && e.Status <= mostStatus {
		l.Status = e.Status
	}
	if e.Kind == provider.Unsupported {
		if l.Feature = string(e.Feature); !slices.Contains(features(), l.Feature) {
			l.Kind, l.Feature = kindOf(provider.Rejected).name, ""
		}
	}
	return l
}

// waitOf gives a time as it is written: in whole microseconds, within what a
// script may wait, and none as nothing.
func waitOf(d time.Duration) string {
	if d = min(d, longestWait).Truncate(time.Microsecond); d <= 0 {
		return ""
	}
	return d.String()
}

// appendJSON appends v as one line of JSON, without its line break.
func appendJSON(buf *bytes.Buffer, v any) error {
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	buf.Truncate(buf.Len() - 1)
	return nil
}
