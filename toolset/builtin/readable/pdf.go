package readable

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/ledongthuc/pdf"
)

// maxPages bounds the pages that are read of a PDF.
const maxPages = 2000

// readPDF gives the text of a PDF, page by page. Its reader panics at some
// broken files, so that is taken for what it means.
func readPDF(body []byte) (out Output, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = Output{}, &Error{fmt.Sprintf("its PDF is broken: %.200v", p)}
		}
	}()
	r, err := pdf.NewReader(bytes.NewReader(body), int64(len(body)))
	switch {
	case errors.Is(err, pdf.ErrInvalidPassword):
		return Output{}, &Error{"it is a PDF with a password"}
	case err != nil:
		return Output{}, &Error{fmt.Sprintf("its PDF can't be read: %.200s", err.Error())}
	}
	out = Output{Format: Text, Title: r.Trailer().Key("Info").Key("Title").Text()}
	pages := r.NumPage()
	var b strings.Builder
	failed := 0
	for i := 1; i <= min(pages, maxPages) && b.Len() < maxText; i++ {
		text, err := readPage(r, i)
		if err != nil {
			failed++
			continue
		}
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "[page %d of %d]\n%s\n\n", i, pages, text)
		}
	}
	out.Text = b.String()
	switch {
	case out.Text == "" && failed > 0:
		return Output{}, &Error{"none of its PDF's pages can be read"}
	case out.Text == "":
		return Output{}, &Error{"its PDF holds no text; its pages may be images"}
	case failed > 0:
		out.Note = fmt.Sprintf("%d of its %d pages can't be read", failed, pages)
	}
	if pages > maxPages {
		out.Note = join(out.Note, fmt.Sprintf("only the first %d of its %d pages were read", maxPages, pages))
	}
	return out, nil
}

// readPage reads one page; a page that its reader panics at costs only itself.
func readPage(r *pdf.Reader, number int) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read page %d: %v", number, p)
		}
	}()
	page := r.Page(number)
	if page.V.IsNull() {
		return "", nil
	}
	return page.GetPlainText(nil)
}
