// Package doctor has the command doctor. Its checks look at the configuration, the
// keys, the providers, the data directory and the sandbox, beside what package
// machine finds of the machine, and each finding says what to do about it. Nothing is
// written, and no address is asked without --online but an Ollama on this machine.
package doctor
