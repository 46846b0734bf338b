package openai

import (
	"encoding/json"
	"slices"

	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// open begins an item. A piece of it may have come before.
func (d *responseDecoder) open(ev *responseEvent) {
	var in itemData
	if !wire.Lenient(ev.Item, &in) {
		return
	}
	it := d.find(ev, func(it *outputItem) bool {
		return !it.added && !it.done && (it.kind == "" || it.kind == string(in.Type))
	})
	if it == nil {
		it = d.begin(ev.Index)
	}
	it.kind, it.id, it.added = string(in.Type), string(in.ID), true
	it.callID, it.given, it.name = string(in.CallID), string(in.CallID), string(in.Name)
	it.further(ev.Item)
	// A model may reason for minutes without an event, so that the beginning of the reasoning
	// does not count as progress.
	d.progress = d.progress || it.kind != itemReasoning
}

// further takes the members of a call or a message that are not known. Some servers send them
// with the beginning of the item alone, or with its end.
func (it *outputItem) further(raw json.RawMessage) {
	var more json.RawMessage
	switch it.kind {
	case itemMessage:
		more = wire.Siblings(raw, "type", "id", "role", "status", "content")
	case itemCall:
		more = wire.Siblings(raw, "type", "id", "call_id", "name", "arguments", "status")
	}
	if more != nil {
		it.extra = wire.JoinFields(it.extra, more)
	}
}

// begin adds an item.
func (d *responseDecoder) begin(index wire.Int) *outputItem {
	it := &outputItem{index: index}
	d.items = append(d.items, it)
	return it
}

// find returns the latest item of an event for which ok holds: by its place in the response,
// since some servers change ids from event to event. Among items of one place, and where the
// event has no place, the id decides. It returns nil if there is no such item.
func (d *responseDecoder) find(ev *responseEvent, ok func(*outputItem) bool) *outputItem {
	var found *outputItem
	for _, it := range slices.Backward(d.items) {
		sameID := it.id == string(ev.ItemID)
		if !ok(it) || it.index != ev.Index && (ev.Index.Set || !sameID) {
			continue
		}
		if found == nil || sameID && ev.ItemID != "" {
			found = it
		}
		if sameID {
			break
		}
	}
	return found
}

// at returns the item that a piece of a kind belongs to: without a place and with an unknown
// id, the open item of that kind. If there is no such item, it begins one.
func (d *responseDecoder) at(ev *responseEvent, kind string) *outputItem {
	fits := func(it *outputItem) bool { return it.kind == kind && !it.done }
	if it := d.find(ev, fits); it != nil {
		return it
	}
	for _, it := range slices.Backward(d.items) {
		if fits(it) && !(ev.Index.Set && it.index.Set) {
			return it
		}
	}
	it := d.begin(ev.Index)
	it.kind, it.id = kind, string(ev.ItemID)
	return it
}

// closing returns the item that an event ends, or nil if it has ended already.
func (d *responseDecoder) closing(ev *responseEvent) *outputItem {
	var in itemData
	if !wire.Lenient(ev.Item, &in) {
		return nil
	}
	if ev.ItemID == "" {
		ev.ItemID = in.ID
	}
	open := func(it *outputItem) bool { return !it.done && it.kind == string(in.Type) }
	if it := d.find(ev, open); it != nil {
		return it
	}
	if it := d.unmatched(&in, open); it != nil {
		return it
	}
	again := func(it *outputItem) bool {
		return it.kind == string(in.Type) && it.given == string(in.CallID) && it.id == string(ev.ItemID)
	}
	if d.find(ev, again) != nil {
		return nil
	}
	it := d.begin(ev.Index)
	it.id = string(in.ID)
	return it
}

// unmatched returns the first item for which ok holds that an item of the response may be.
func (d *responseDecoder) unmatched(in *itemData, ok func(*outputItem) bool) *outputItem {
	for _, it := range d.items {
		if ok(it) && (in.CallID == "" || it.given == "" || it.given == string(in.CallID)) {
			return it
		}
	}
	return nil
}
