//go:build !linux && !darwin

package main

import "errors"

func runChatTerm(*lab) error { return errors.New("chat-term needs pseudo-terminals") }
