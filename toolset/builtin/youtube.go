package builtin

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

//go:embed youtube_transcript.md
var youtubeText string

// youtubeTranscript makes the tool youtube_transcript. It wants no approval: it
// reaches one site, and all that it sends there is a video's id.
func youtubeTranscript(w Web) toolset.Entry {
	return called(toolset.Tool{
		ID: "youtube_transcript", Name: "YouTube Transcript", Category: "web", Description: youtubeText,
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"video": {"type": "string", "minLength": 1, "description": "The video's id or address"},
				"language": {"type": "string", "description": "Language code that is preferred, such as en or pt-BR"},
				"timed": {"type": "boolean", "description": "Put the time before each line"},
				"max_chars": {"type": "integer", "minimum": 1, "maximum": 100000, "description": "Most characters to return"},
				"offset": {"type": "integer", "minimum": 0, "description": "Characters to leave out at the beginning"}
			},
			"required": ["video"],
			"additionalProperties": false
		}`),
		OutputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"video_id": {"type": "string"},
				"title": {"type": "string"},
				"author": {"type": "string"},
				"language": {"type": "string", "description": "Language code of the captions"},
				"automatic": {"type": "boolean", "description": "Whether a machine made the captions"},
				"languages": {"type": "array", "items": {"type": "string"}, "description": "All that there are"},
				"content": {"type": "string", "description": "The piece that was read"},
				"offset": {"type": "integer", "minimum": 0},
				"total_chars": {"type": "integer", "minimum": 0},
				"truncated": {"type": "boolean"}
			},
			"required": ["video_id", "title", "author", "language", "automatic", "languages", "content", "offset", "total_chars", "truncated"],
			"additionalProperties": false
		}`),
		Renderer:    &toolset.Renderer{Type: toolset.RenderDocument, Content: "$return.content"},
		Annotations: toolset.Annotations{ReadOnly: true, OpenWorld: true},
		Timeout:     toolset.Duration(2 * webTime),
	}, youtube{w}.run)
}

type youtube struct{ web Web }

type youtubeArgs struct {
	Video    string `json:"video"`
	Language string `json:"language"`
	Timed    bool   `json:"timed"`
	MaxChars int    `json:"max_chars"`
	Offset   int    `json:"offset"`
}

type youtubeData struct {
	VideoID    string   `json:"video_id"`
	Title      string   `json:"title"`
	Author     string   `json:"author"`
	Language   string   `json:"language"`
	Automatic  bool     `json:"automatic"`
	Languages  []string `json:"languages"`
	Content    string   `json:"content"`
	Offset     int      `json:"offset"`
	TotalChars int      `json:"total_chars"`
	Truncated  bool     `json:"truncated"`
}

func (y youtube) run(outer context.Context, _ toolset.Call, a youtubeArgs) (toolset.Result, error) {
	id, err := videoID(a.Video)
	if err != nil {
		return toolset.Result{}, err
	}
	if a.Offset < 0 {
		return toolset.Result{}, toolset.Errorf("offset can't be negative")
	}
	ctx, cancel := context.WithTimeout(outer, webTime)
	defer cancel()
	video, lines, chosen, err := y.transcript(ctx, id, a.Language)
	var own *toolset.ToolError
	switch {
	case err != nil && errors.As(err, &own) && outer.Err() == nil:
		return toolset.Result{}, err
	case err != nil:
		return toolset.Result{}, reachTrouble(ctx, outer, "video "+id, err)
	}
	p, err := cutPiece(writeLines(lines, a.Timed), a.Offset, charsOf(a.MaxChars))
	if err != nil {
		return toolset.Result{}, err
	}
	data := youtubeData{
		VideoID: id, Title: oneWebLine(video.Details.Title, 300), Author: oneWebLine(video.Details.Author, 200),
		Language: oneWebLine(chosen.Language, 40), Automatic: chosen.Kind == "asr", Languages: languagesOf(video.tracks()),
		Content: p.text, Offset: p.from, TotalChars: p.total, Truncated: p.more(),
	}
	head := fmt.Sprintf("video: %s\ntitle: %s\nby: %s\ncaptions: %s", id, data.Title, data.Author, data.Language)
	if data.Automatic {
		head += ", made by a machine"
	}
	if a.Language != "" && !sameLanguage(chosen.Language, a.Language) {
		head += fmt.Sprintf("\n[there are none in %s; there are: %s]", oneWebLine(a.Language, 40), strings.Join(data.Languages, ", "))
	}
	if n := p.note(); n != "" {
		head += "\n[" + n + "]"
	}
	return result(head+"\n"+foreign("what is said", p.text), data)
}

const idLength = 11

// videoID finds the id in any address of a video, or takes it as it is.
func videoID(given string) (string, error) {
	given = strings.TrimSpace(given)
	wrong := toolset.Errorf("%s is no video of YouTube: give its address, or its id of 11 letters, digits, - and _", oneWebLine(given, 100))
	if isVideoID(given) {
		return given, nil
	}
	if !strings.Contains(given, "://") {
		given = "https://" + given
	}
	u, err := url.Parse(given)
	if err != nil {
		return "", wrong
	}
	host := strings.ToLower(u.Hostname())
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	id := ""
	switch {
	case host == "youtu.be", host == "www.youtu.be":
		id = parts[0]
	case host != "youtube.com" && !strings.HasSuffix(host, ".youtube.com") && host != "youtube-nocookie.com" && host != "www.youtube-nocookie.com":
		return "", wrong
	case u.Query().Get("v") != "":
		id = u.Query().Get("v")
	case parts[0] == "attribution_link", parts[0] == "oembed":
		inner := u.Query().Get("u") + u.Query().Get("url")
		if at, err := url.Parse(inner); err == nil {
			id = at.Query().Get("v")
		}
	case len(parts) >= 2:
		switch parts[0] {
		case "shorts", "embed", "live", "v", "e", "vi":
			id = parts[1]
		}
	}
	if !isVideoID(id) {
		return "", wrong
	}
	return id, nil
}

func isVideoID(s string) bool {
	return len(s) == idLength && strings.IndexFunc(s, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// writeLines writes captions as running text, or each line with its time.
func writeLines(lines []caption, timed bool) string {
	var b strings.Builder
	long := len(lines) > 0 && lines[len(lines)-1].at >= time.Hour
	for i, l := range lines {
		switch {
		case timed:
			b.WriteString(clock(l.at, long) + " " + l.text + "\n")
		case i == 0:
			b.WriteString(l.text)
		case l.at-lines[i-1].end() >= pause:
			b.WriteString("\n\n" + l.text)
		default:
			b.WriteString(" " + l.text)
		}
	}
	return strings.TrimSpace(b.String())
}

// pause is the silence after which running text gets a new paragraph.
const pause = 2 * time.Second

func clock(at time.Duration, long bool) string {
	s := int(at.Seconds())
	if long {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// languagesOf are the languages that there are captions in, automatic ones
// marked.
func languagesOf(tracks []track) []string {
	out := []string{}
	for _, t := range tracks {
		name := oneWebLine(t.Language, 40)
		if t.Kind == "asr" {
			name += " (automatic)"
		}
		out = append(out, name)
	}
	return out
}

// choose takes the track to read: of the wanted language, or the same in
// another country; else of the language that is spoken; people's before
// automatic ones.
func choose(tracks []track, wanted string) track {
	best, points := tracks[0], -1
	spoken := ""
	for _, t := range tracks {
		if t.Kind == "asr" {
			spoken = t.Language // automatic ones are of what is said
		}
	}
	for _, t := range tracks {
		n := 0
		switch {
		case wanted != "" && strings.EqualFold(t.Language, wanted):
			n += 8
		case wanted != "" && sameLanguage(t.Language, wanted):
			n += 4
		case spoken != "" && sameLanguage(t.Language, spoken):
			n += 2
		}
		if t.Kind != "asr" {
			n++
		}
		if n > points {
			best, points = t, n
		}
	}
	return best
}

// sameLanguage compares languages without their countries.
func sameLanguage(a, b string) bool {
	base := func(s string) string {
		s, _, _ = strings.Cut(strings.ReplaceAll(s, "_", "-"), "-")
		return strings.ToLower(s)
	}
	return base(a) == base(b)
}
