package textenc

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
)

// encoded returns a text in UTF-16, with a byte order mark where mark is "\ufeff".
func encoded(text, mark string, order binary.AppendByteOrder) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(mark + text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

func TestTextsOfAllEncodings(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"short": "hi", "words": "key: value\n", "lines of Windows": "a\r\nb\r\n", "German": "grün und weiß, 10 €\n",
		"Chinese with line ends": strings.Repeat("你好世界\n", 9), "Russian": "привет, мир\n", "pairs": "a 🌱 b\n", "JSON": `{"a":[1,2]}`,
		"long, with a pair in the middle of the sample": strings.Repeat("a", sample/2-1) + "🌱" + strings.Repeat("b", sample),
	} {
		for form, raw := range map[string][]byte{
			"UTF-8": []byte(text), "UTF-8 with a mark": []byte(Mark + text),
			"UTF-16LE": encoded(text, "", binary.LittleEndian), "UTF-16LE with a mark": encoded(text, "\ufeff", binary.LittleEndian),
			"UTF-16BE": encoded(text, "", binary.BigEndian), "UTF-16BE with a mark": encoded(text, "\ufeff", binary.BigEndian),
		} {
			if got := string(ToUTF8(raw)); got != text {
				t.Errorf("%s as %s is read as %.60q", name, form, got)
			}
			read, err := io.ReadAll(NewReader(bytes.NewReader(raw)))
			if err != nil || string(read) != text {
				t.Errorf("%s as %s is streamed as %.60q, %v", name, form, read, err)
			}
		}
	}
}

func TestOtherBytesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string][]byte{
		"nothing": {}, "one byte": {'a'}, "a character with a zero": {'a', 0}, "zeros": make([]byte, 64),
		"names that end with zeros": []byte("one.txt\x00two.txt\x00"), "numbers of four bytes": {1, 0, 0, 0, 2, 0, 0, 0, 65, 0, 0, 0},
		"numbers of two bytes": {1, 0, 2, 0, 3, 0, 4, 0}, "a program": []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00"),
		"an image": []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"), "UTF-32": []byte("\xff\xfe\x00\x00a\x00\x00\x00b\x00\x00\x00"),
		"Latin-1": []byte("gr\xfcn"), "Chinese without a mark": encoded("你好世界你好世界", "", binary.LittleEndian),
	} {
		if got := ToUTF8(raw); !bytes.Equal(got, raw) {
			t.Errorf("%s is read as %q", name, got)
		}
	}
}

func TestHalvesOfPairsAreReplaced(t *testing.T) {
	t.Parallel()
	raw := append([]byte("\xff\xfea\x00\x3d\xd8b\x00"), 'c')
	if got := string(ToUTF8(raw)); got != "a\uFFFDb\uFFFD" {
		t.Errorf("it is read as %q", got)
	}
}

// A reader passes on what a writer has sent, also if that writer sends more only later.
func TestAReaderDoesNotWaitForMore(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	read := NewReader(r)
	for i := range 3 {
		go func() { _, _ = w.Write([]byte("a line\n")) }() // the next one is written when this one was read
		got := make([]byte, 7)
		if _, err := io.ReadFull(read, got); err != nil || string(got) != "a line\n" {
			t.Fatalf("line %d is %q, %v", i+1, got, err)
		}
	}
}
