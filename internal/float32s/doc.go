// Package float32s has vectors as bytes: 32 bits for each number, little-endian, which is the
// form of OpenAI's base64, of the store and of fettle embed --binary. It computes nothing with
// vectors.
package float32s
