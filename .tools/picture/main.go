// Command picture turns a screen, as "tmux capture-pane -e -p" prints it, into an SVG.
//
//	tmux capture-pane -e -p | picture > review.svg
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"html"
	"io"
	"os"
	"strconv"
	"strings"
)

// The size of a cell, in pixels, and the margin around the screen.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 14
)

// The colours of the screen where none is named, and the first sixteen that are.
var (
	foreground = "#d4d4d4"
	background = "#1e1e1e"
	palette    = [16]string{
		"#1e1e1e", "#f14c4c", "#23d18b", "#e5c07b", "#61afef", "#d670d6", "#29b8db", "#d4d4d4",
		"#808080", "#ff6b6b", "#4ee6a8", "#f5d98b", "#82c4ff", "#e58fe5", "#5fd7ea", "#ffffff",
	}
)

// style is the set of attributes of a run of text.
type style struct {
	fg, bg                        string
	bold, faint, reverse, underln bool
}

func main() {
	if err := draw(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func draw(from io.Reader, to io.Writer) error {
	var rows []string
	width := 0
	look := style{}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		row, cells := drawRow(lines.Text(), len(rows), &look)
		rows, width = append(rows, row), max(width, cells)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	w, h := float64(width)*cellWidth+2*margin, len(rows)*cellHeight+2*margin
	_, err := fmt.Fprintf(to, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14">
<rect width="100%%" height="100%%" rx="8" fill="%s"/>
%s</svg>
`, w, h, background, strings.Join(rows, ""))
	return err
}

// drawRow draws a line of the screen, and returns how many cells it has. Every run
// of text is as wide as its cells, whatever the font.
func drawRow(line string, row int, look *style) (out string, cells int) {
	var svg strings.Builder
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		svg.WriteString(drawRun(text, row, cells, *look))
		cells += len([]rune(text))
		line = rest
		if found {
			codes, after, _ := strings.Cut(rest, "m")
			look.apply(codes)
			line = after
		}
	}
	return svg.String(), cells
}

func drawRun(text string, row, column int, look style) string {
	fg, bg := look.fg, look.bg
	if look.reverse {
		fg, bg = cmp.Or(bg, background), cmp.Or(fg, foreground)
	}
	x, y := margin+float64(column)*cellWidth, margin+row*cellHeight
	width := float64(len([]rune(text))) * cellWidth
	var out strings.Builder
	if bg != "" && text != "" {
		fmt.Fprintf(&out, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", x, y, width, cellHeight, bg)
	}
	if strings.TrimSpace(text) == "" {
		return out.String()
	}
	attributes := ""
	if look.bold {
		attributes += ` font-weight="bold"`
	}
	if look.faint {
		attributes += ` opacity="0.6"`
	}
	if look.underln {
		attributes += ` text-decoration="underline"`
	}
	fmt.Fprintf(&out, `<text x="%.1f" y="%d" textLength="%.1f" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
		x, y+cellHeight-5, width, cmp.Or(fg, foreground), attributes, html.EscapeString(text))
	return out.String()
}

// apply changes a style by the numbers of one SGR sequence (ECMA-48, 8.3.117).
func (s *style) apply(codes string) {
	numbers := strings.Split(codes, ";")
	for i := 0; i < len(numbers); i++ {
		n, _ := strconv.Atoi(numbers[i])
		switch {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 4:
			s.underln = true
		case n == 7:
			s.reverse = true
		case n == 22:
			s.bold, s.faint = false, false
		case n == 24:
			s.underln = false
		case n == 27:
			s.reverse = false
		case n == 38 || n == 48:
			colour, used := extended(numbers[i+1:])
			if i += used; n == 38 {
				s.fg = colour
			} else {
				s.bg = colour
			}
		case n == 39:
			s.fg = ""
		case n == 49:
			s.bg = ""
		case n >= 30 && n <= 37:
			s.fg = palette[n-30]
		case n >= 90 && n <= 97:
			s.fg = palette[n-90+8]
		case n >= 40 && n <= 47:
			s.bg = palette[n-40]
		case n >= 100 && n <= 107:
			s.bg = palette[n-100+8]
		}
	}
}

// extended reads 5;N or 2;R;G;B, and returns how many numbers that took.
func extended(numbers []string) (colour string, used int) {
	at := func(i int) int {
		if i >= len(numbers) {
			return 0
		}
		n, _ := strconv.Atoi(numbers[i])
		return min(max(n, 0), 255)
	}
	if at(0) == 2 {
		return fmt.Sprintf("#%02x%02x%02x", at(1), at(2), at(3)), 4
	}
	n := at(1)
	switch {
	case n < 16:
		return palette[n], 2
	case n >= 232:
		return fmt.Sprintf("#%02[1]x%02[1]x%02[1]x", 8+10*(n-232)), 2
	}
	level := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6)), 2
}
