package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// The titles of what stands first in every form for people.
const (
	optionTitle = "OPTIONS"
	changeTitle = "CHANGES"
	lessTitle   = "SETTINGS THAT NEED LESS"

	// withoutObstacles stands before [PlanWithoutObstacles].
	withoutObstacles = "Planned so that flags settle it:"
)

// ObstacleTitle is the title above what prevents the plan from being applied.
func ObstacleTitle(p *preview.Plan) string {
	if p.AppliedBy != nil {
		return strings.ToUpper(p.AppliedBy.Name()) + " WOULD FAIL"
	}
	return "CANNOT BE APPLIED"
}

// maxObstacles is the most obstacles to a plan that forms for people list (12); the
// others are counted.
const maxObstacles = 12

// obstacleFacts returns a row for each reason why the plan cannot be applied, with the
// remedy and the objects that share both.
func obstacleFacts(p *preview.Plan) []fact {
	var rows []fact
	at := map[string]int{}
	for _, o := range verdict.For(p).Obstacles {
		text := o.Cause
		if o.Remedy != "" {
			text += "; " + o.Remedy
		}
		if i, known := at[text]; known {
			rows[i].name += ", " + preview.IDLabel(o.Object)
			continue
		}
		at[text] = len(rows)
		rows = append(rows, fact{preview.IDLabel(o.Object), text})
	}
	if len(rows) > maxObstacles {
		rows = append(rows[:maxObstacles:maxObstacles], fact{"", fmt.Sprintf("and %d more, -o json has them", len(rows)-maxObstacles)})
	}
	return rows
}

// settledFacts is [obstacleFacts] with the command of [PlanWithoutObstacles] as last row.
func settledFacts(p *preview.Plan) []fact {
	rows := obstacleFacts(p)
	if again := PlanWithoutObstacles(p); again != "" {
		rows = append(rows, fact{withoutObstacles, again})
	}
	return rows
}

// ObstacleTexts returns a text for each reason why the plan cannot be applied, with its
// remedy, and last the command that reviews another plan without them, if there is one.
func ObstacleTexts(p *preview.Plan) []string { return factTexts(settledFacts(p)) }

// PlanWithoutObstacles returns the command that reviews another plan, which lacks the
// obstacles that a flag takes away; empty if none does.
func PlanWithoutObstacles(p *preview.Plan) string {
	var flags []string
	known := map[string]bool{}
	for _, o := range verdict.For(p).Obstacles {
		if decision := strings.Join(o.Flags, " "); decision != "" && !known[decision] {
			flags, known[decision] = append(flags, o.Flags...), true
		}
	}
	if len(flags) == 0 {
		return ""
	}
	return ReviewCommand(p, flags...)
}

// maxOptions is the most options of the release that forms for people list (12); the
// others are counted.
const maxOptions = 12

// optionFacts returns a row for each option with which the release was installed: kept,
// changed or dropped by the plan.
func optionFacts(p *preview.Plan) []fact {
	var rows []fact
	last := ""
	for i, c := range p.OptionChanges {
		if i == maxOptions {
			return append(rows, fact{"", fmt.Sprintf("and %d more, -o json has them", len(p.OptionChanges)-maxOptions)})
		}
		name := c.Change
		if name == last {
			name = ""
		}
		last = c.Change
		rows = append(rows, fact{name, c.Text()})
	}
	return rows
}

// changeFacts returns the important changes to what is installed, by topic, and the
// number of other changed fields.
func changeFacts(v *preview.Verdict) []fact {
	var rows []fact
	last := ""
	for _, h := range v.Changes {
		topic := h.Topic
		if topic == last {
			topic = ""
		}
		last = h.Topic
		rows = append(rows, fact{topic, h.Text})
	}
	if len(rows) > 0 {
		rows = append(rows, fact{"others", preview.Plural(v.OtherFields, "other field")})
	}
	return rows
}

// factTexts returns rows as a list of texts for programs, empty without any.
func factTexts(rows []fact) []string {
	out := []string{}
	for _, row := range rows {
		out = append(out, strings.TrimSpace(row.name+" "+row.value))
	}
	return out
}

// changeTexts returns what a plan changes as a list of texts, each with its topic.
func changeTexts(v *preview.Verdict) []string {
	out := []string{}
	for _, h := range v.Changes {
		out = append(out, h.Topic+" "+h.Text)
	}
	return out
}

// mitigationFacts returns a row for each set of flags with which the package would need
// less, with the findings that the flags remove or make less severe.
func mitigationFacts(v *preview.Verdict) []fact {
	var rows []fact
	for _, m := range v.Mitigations {
		rows = append(rows, fact{commandline.Join(m.Flags...), m.Text()})
	}
	return rows
}

// verdictLines returns the beginning of the text form: the verdict, obstacles, options,
// changes and mitigations.
func verdictLines(p *preview.Plan, l layout) []string {
	v := verdict.For(p)
	out := l.wrap("", line(v.Sentence))
	if rows := obstacleFacts(p); len(rows) > 0 {
		out = append(out, "", l.paint(yellow, ObstacleTitle(p)))
		for _, row := range rows {
			out = append(out, l.hang("  ", "    ", line(strings.TrimSpace(row.name+" "+row.value)))...)
		}
		if again := PlanWithoutObstacles(p); again != "" {
			out = append(out, "  "+withoutObstacles, "  "+again) // not wrapped: it is copied as a whole
		}
	}
	if rows := optionFacts(p); len(rows) > 0 {
		out = append(out, "", l.paint(bold, optionTitle))
		for _, row := range rows {
			out = append(out, l.wrap(fmt.Sprintf("  %-10s  ", row.name), line(row.value))...)
		}
	}
	if rows := changeFacts(v); len(rows) > 0 {
		out = append(out, "", l.paint(bold, changeTitle))
		for _, row := range rows {
			out = append(out, l.wrap(fmt.Sprintf("  %-10s  ", row.name), line(row.value))...)
		}
	}
	if rows := mitigationFacts(v); len(rows) > 0 {
		out = append(out, "", l.paint(bold, lessTitle))
		for _, row := range rows {
			out = append(out, l.hang("  ", "    ", line(row.name+"  "+row.value))...)
		}
	}
	return out
}

// verdictBlock is [verdictLines] for the Markdown form.
func verdictBlock(p *preview.Plan) string {
	v := verdict.For(p)
	block := "**" + prose(line(v.Sentence)) + "**\n"
	if rows := obstacleFacts(p); len(rows) > 0 {
		block += "\n### " + heading(section{title: ObstacleTitle(p)}) + "\n\n"
		for _, row := range rows {
			block += "- " + prose(line(strings.TrimSpace(row.name+" "+row.value))) + "\n"
		}
		if again := PlanWithoutObstacles(p); again != "" {
			block += "\n" + prose(withoutObstacles) + " " + code(again) + "\n"
		}
	}
	if rows := optionFacts(p); len(rows) > 0 {
		var lines []string
		for _, row := range rows {
			lines = append(lines, line(fmt.Sprintf("%-10s  %s", row.name, row.value)))
		}
		block += "\n### " + heading(section{title: optionTitle}) + "\n\n" + fence("text", lines)
	}
	if rows := changeFacts(v); len(rows) > 0 {
		var lines []string
		for _, row := range rows {
			lines = append(lines, line(fmt.Sprintf("%-10s  %s", row.name, row.value)))
		}
		block += "\n### " + heading(section{title: changeTitle}) + "\n\n" + fence("text", lines) + diffBlock(p)
	}
	if rows := mitigationFacts(v); len(rows) > 0 {
		block += "\n### " + heading(section{title: lessTitle}) + "\n\n"
		for _, row := range rows {
			block += "- " + code(line(row.name)) + " " + prose(line(row.value)) + "\n"
		}
	}
	return block
}
