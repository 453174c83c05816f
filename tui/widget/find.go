package widget

// Find is a compiled search. It returns where a text has what is searched for,
// as byte offsets of start and end, in order and without overlaps.
type Find func(text string) [][]int

// Find returns the line with the parts marked that a search finds. They keep
// their roles.
func (l Line) Find(find Find) Line {
	if find == nil {
		return l
	}
	found := find(l.Plain())
	if len(found) == 0 {
		return l
	}
	out, at := make(Line, 0, len(l)+2*len(found)), 0
	for _, s := range l {
		end := at + len(s.text)
		for at < end {
			for len(found) > 0 && found[0][1] <= at {
				found = found[1:]
			}
			upTo, hit := end, false
			switch {
			case len(found) > 0 && found[0][0] <= at:
				upTo, hit = min(end, found[0][1]), true
			case len(found) > 0:
				upTo = min(end, found[0][0])
			}
			part := s
			part.text, part.hit = s.text[len(s.text)-(end-at):len(s.text)-(end-upTo)], hit
			out, at = append(out, part), upTo
		}
	}
	return out
}
