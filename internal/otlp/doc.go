// Package otlp sends spans to a receiver of OpenTelemetry, by OTLP over HTTP in
// its binary form, which is the one that every receiver takes. It makes spans, keeps
// ended ones in a bounded queue and posts them in batches. It has no metrics, no
// logs, no sampler but the caller's word, and no context: who has a span begins
// others within it.
//
// # Why not the SDK
//
// go.opentelemetry.io/otel/sdk with otlptracehttp 1.41 made the stripped program
// 2.85 MB larger (38.57 to 41.42 MB) and brought eight modules, gRPC among them,
// with newer versions of protobuf than anything else here wants. This package adds
// less than 0.1 MB and no module: protobuf's wire format is linked already. Its
// start costs nothing, since nothing is made before a receiver is named. What the
// SDK has beyond this (processors, samplers, propagators, other signals) has no
// user here.
//
// # Promises
//
//   - Nothing is sent anywhere unless the environment names a receiver ([FromEnv]).
//   - Ending a span never waits: what the queue has no room for is dropped and
//     counted.
//   - One request at a time. A receiver that fails is asked again after a wait that
//     doubles, with the same spans; one that refuses spans loses them.
//   - Close sends what is left for as long as its context lasts, and then no
//     goroutine is left.
//   - Redirects are not followed: the headers may hold a key.
//
// An Exporter and its spans are safe for concurrent use. A nil *Span is a span that
// isn't recorded.
package otlp
