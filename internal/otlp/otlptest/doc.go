// Package otlptest is a receiver of spans for tests: a real HTTP server that reads
// OTLP by the published descriptors and keeps what came. It knows nothing of how the
// program writes it.
//
// testdata/trace.binpb is the FileDescriptorSet of opentelemetry-proto 1.9.0's
// collector/trace/v1, which is under the Apache License 2.0, without its comments.
package otlptest
