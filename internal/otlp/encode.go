package otlp

import (
	"log/slog"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of the fields, as opentelemetry-proto 1.x has them.
const (
	requestResourceSpans = 1

	resourceSpansResource = 1
	resourceSpansScope    = 2

	resourceAttributes = 1

	scopeSpansScope = 1
	scopeSpansSpans = 2

	scopeName    = 1
	scopeVersion = 2

	spanTraceID    = 1
	spanID         = 2
	spanParentID   = 4
	spanName       = 5
	spanKind       = 6
	spanBegun      = 7
	spanEnded      = 8
	spanAttributes = 9
	spanStatus     = 15

	statusCode  = 3
	statusError = 2

	keyValueKey   = 1
	keyValueValue = 2

	valueString = 1
	valueBool   = 2
	valueInt    = 3
	valueDouble = 4
	valueArray  = 5

	arrayValues = 1

	responsePartial = 1
	partialRejected = 1
)

// encode makes a request of spans. head is what encodeHead gave.
func encode(head, scope []byte, spans []record) []byte {
	scoped := scope
	scoped = scoped[:len(scoped):len(scoped)] // append copies
	for _, r := range spans {
		scoped = appendMessage(scoped, scopeSpansSpans, encodeSpan(r))
	}
	of := head[:len(head):len(head)]
	of = appendMessage(of, resourceSpansScope, scoped)
	return appendMessage(nil, requestResourceSpans, of)
}

// encodeHead is what every request has: the resource, and in scope who speaks.
func encodeHead(resource []slog.Attr, name, version string) (head, scope []byte) {
	var res, who []byte
	for _, a := range resource {
		res = appendMessage(res, resourceAttributes, encodeAttr(a))
	}
	who = appendText(who, scopeName, name)
	who = appendText(who, scopeVersion, version)
	return appendMessage(nil, resourceSpansResource, res), appendMessage(nil, scopeSpansScope, who)
}

func encodeSpan(r record) []byte {
	b := appendMessage(nil, spanTraceID, r.trace[:])
	b = appendMessage(b, spanID, r.id[:])
	if r.parent != [8]byte{} {
		b = appendMessage(b, spanParentID, r.parent[:])
	}
	b = appendText(b, spanName, r.name)
	b = appendNumber(b, spanKind, uint64(r.kind))
	b = appendTime(b, spanBegun, r.begun)
	b = appendTime(b, spanEnded, r.ended)
	for _, a := range r.attrs {
		b = appendMessage(b, spanAttributes, encodeAttr(a))
	}
	if r.failed {
		b = appendMessage(b, spanStatus, appendNumber(nil, statusCode, statusError))
	}
	return b
}

func encodeAttr(a slog.Attr) []byte {
	b := appendText(nil, keyValueKey, clip(a.Key))
	return appendMessage(b, keyValueValue, encodeValue(a.Value.Resolve()))
}

func encodeValue(v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindBool:
		return appendNumber(nil, valueBool, protowire.EncodeBool(v.Bool()))
	case slog.KindInt64:
		return appendNumber(nil, valueInt, uint64(v.Int64()))
	case slog.KindUint64:
		return appendNumber(nil, valueInt, min(v.Uint64(), math.MaxInt64))
	case slog.KindFloat64:
		return appendFixed(nil, valueDouble, math.Float64bits(v.Float64()))
	case slog.KindDuration: // in seconds, as the conventions have times
		return appendFixed(nil, valueDouble, math.Float64bits(v.Duration().Seconds()))
	}
	if list, ok := v.Any().([]string); ok {
		var b []byte
		for _, s := range list[:min(len(list), maxAttrs)] {
			b = appendMessage(b, arrayValues, appendText(nil, valueString, clip(s)))
		}
		return appendMessage(nil, valueArray, b)
	}
	return appendText(nil, valueString, clip(v.String()))
}

func appendMessage(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

func appendText(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func appendNumber(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

func appendFixed(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), n)
}

func appendTime(b []byte, field protowire.Number, t time.Time) []byte {
	return appendFixed(b, field, uint64(max(t.UnixNano(), 0)))
}

// rejected is how many spans a receiver says that it did not take. What is no
// answer of OTLP says none.
func rejected(answer []byte) int64 {
	partial, _ := field(answer, responsePartial)
	_, n := field(partial, partialRejected)
	return max(n, 0)
}

// field finds the last field of a number: its bytes, or its number.
func field(b []byte, want protowire.Number) (text []byte, n int64) {
	for len(b) > 0 {
		num, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return nil, 0
		}
		b = b[size:]
		size = protowire.ConsumeFieldValue(num, kind, b)
		if size < 0 {
			return nil, 0
		}
		switch {
		case num == want && kind == protowire.BytesType:
			text, _ = protowire.ConsumeBytes(b)
		case num == want && kind == protowire.VarintType:
			v, _ := protowire.ConsumeVarint(b)
			n = int64(v)
		}
		b = b[size:]
	}
	return text, n
}
