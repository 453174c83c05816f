package review

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// withoutObstacles stands before [PlanWithoutObstacles].
const withoutObstacles = "Planned so that flags settle it:"

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

// obstacleSection returns each reason why the plan cannot be applied, with the objects that
// share it and the remedy, and last the command of [PlanWithoutObstacles].
func obstacleSection(p *preview.Plan) Section {
	s := Section{ID: Obstacles, Title: ObstacleTitle(p), Columns: []Column{{Name: "reason"}}}
	at := map[string]int{}
	var objects, causes []string
	for _, o := range verdict.For(p).Obstacles {
		cause := words.Joined("; ", o.Cause, o.Remedy)
		i, known := at[cause]
		if !known {
			i = len(causes)
			at[cause] = i
			objects, causes = append(objects, ""), append(causes, cause)
		}
		objects[i] = words.Joined(", ", objects[i], preview.IDLabel(o.Object))
	}
	if len(causes) == 0 {
		return Section{}
	}
	for i, cause := range causes {
		if i == maxObstacles {
			s.Rows = append(s.Rows, Row{Cells: []string{fmt.Sprintf("and %d more, -o json has them", len(causes)-i)}})
			break
		}
		s.Rows = append(s.Rows, Row{Cells: []string{words.Joined(" ", objects[i], cause)}})
	}
	if again := PlanWithoutObstacles(p); again != "" {
		s.Commands = []ShellCommand{{withoutObstacles, again}}
	}
	return s
}

// ObstacleTexts returns a text for each reason why the plan cannot be applied, with its
// remedy, and last the command that reviews another plan without them, if there is one.
func ObstacleTexts(p *preview.Plan) []string {
	s := obstacleSection(p)
	out := s.Texts()
	for _, c := range s.Commands {
		out = append(out, c.For+" "+c.Text)
	}
	return out
}

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
	return RepeatCommand(p, flags...)
}

// maxOptions is the most options of the release that forms for people list (12); the
// others are counted.
const maxOptions = 12

// optionSection returns each option that the release was installed with: kept, changed or
// dropped by the plan.
func optionSection(p *preview.Plan) Section {
	var rows []Fact
	for i, c := range p.OptionChanges {
		if i == maxOptions {
			rows = append(rows, Fact{"", fmt.Sprintf("and %d more, -o json has them", len(p.OptionChanges)-maxOptions)})
			break
		}
		rows = append(rows, Fact{c.Change, c.Text()})
	}
	return facts(Options, "OPTIONS", nameOnce(rows), false)
}

// nameOnce returns facts of which only the first of several with the same name has it.
func nameOnce(rows []Fact) []Fact {
	last := ""
	for i := range rows {
		if rows[i].Name == last {
			rows[i].Name = ""
			continue
		}
		last = rows[i].Name
	}
	return rows
}

// changeSection returns the important changes to what is installed, by topic, and the
// number of other changed fields.
func changeSection(p *preview.Plan) Section {
	v := verdict.For(p)
	var rows []Fact
	for _, h := range v.Changes {
		rows = append(rows, Fact{h.Topic, h.Text})
	}
	if len(rows) > 0 && v.OtherFields > 0 {
		rows = append(rows, Fact{"others", preview.Plural(v.OtherFields, "other field")})
	}
	return facts(Changes, "CHANGES", nameOnce(rows), false)
}

// lessSection returns each set of flags that lets the package need less, with the findings
// that the flags remove or make less severe.
func lessSection(p *preview.Plan) Section {
	s := Section{ID: Less, Columns: []Column{{Name: "setting"}}}
	for _, m := range verdict.For(p).Mitigations {
		s.Title, s.Rows = "SETTINGS THAT NEED LESS", append(s.Rows, Row{Cells: []string{commandline.Join(m.Flags...) + "  " + m.Text()}})
	}
	return s
}
