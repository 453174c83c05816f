package preview

import (
	"fmt"
	"strings"
)

// Verdict says first what decides: whether the plan can be applied at all, and
// what it changes. It follows from the rest of the plan and is no Fact.
type Verdict struct {
	// Sentence says in one sentence what the plan would do.
	Sentence string `json:"sentence"`
	// Obstacles lists what keeps the plan from being applied, whatever is
	// accepted; empty where nothing does.
	Obstacles []Obstacle `json:"obstacles"`
	// Changes lists what the plan changes of what is installed, the most
	// important first; empty where nothing is installed.
	Changes []Highlight `json:"changes"`
	// OtherFields counts the changed fields that no change of the list names.
	OtherFields int `json:"otherFields"`
	// Groups lists the findings as every form numbers and counts them: those
	// about one account or one CRD are one entry, with the severity of the worst.
	Groups []FindingGroup `json:"groups"`
	// Mitigations lists other settings with which the content needs less, as far
	// as its format knows any.
	Mitigations []Mitigation `json:"mitigations"`
}

// Mitigation is another setting with which the content needs less.
type Mitigation struct {
	// Flags make the setting on the command line.
	Flags []string `json:"flags"`
	// Removes lists the labels of the entries that are gone with it.
	Removes []string `json:"removes"`
	// Lowers lists the labels of those that are less severe with it.
	Lowers []string `json:"lowers"`
	// Critical counts the critical entries that it leaves.
	Critical int `json:"critical"`
	// Warnings counts the warnings that it leaves.
	Warnings int `json:"warnings"`
}

// Text returns what the setting removes and lowers, and how many findings it leaves.
func (m Mitigation) Text() string {
	var parts []string
	if len(m.Removes) > 0 {
		parts = append(parts, "removes "+strings.Join(m.Removes, " "))
	}
	if len(m.Lowers) > 0 {
		parts = append(parts, "lowers "+strings.Join(m.Lowers, " "))
	}
	return fmt.Sprintf("%s; leaves %d critical, %s", strings.Join(parts, ", "), m.Critical, Plural(m.Warnings, "warning"))
}

// FindingGroup is one entry of a review.
type FindingGroup struct {
	// Label is the letter of the severity and a number, such as C1.
	Label string `json:"label"`
	// Severity is that of the worst finding.
	Severity Severity `json:"severity"`
	// Title says who or what it is about, and what that comes to.
	Title string `json:"title"`
	// Findings lists the ids of the findings, the worst first.
	Findings []string `json:"findings"`
}

// Count returns the number of obstacles; 0 if v is nil.
func (v *Verdict) Count() int {
	if v == nil {
		return 0
	}
	return len(v.Obstacles)
}

// Obstacle is a reason why a plan cannot be applied.
type Obstacle struct {
	// Object is the id of the object that cannot be written.
	Object string `json:"object"`
	// Cause completes a sentence about the object.
	Cause string `json:"cause"`
	// Remedy says what to do about it; empty where the cause says it.
	Remedy string `json:"remedy,omitempty"`
}

// Highlight is one line about what a plan changes.
type Highlight struct {
	// Topic is version, image, permission, field, CRD or objects.
	Topic string `json:"topic"`
	// Text is the line.
	Text string `json:"text"`
}

// The topics of highlights, in the order of the list.
const (
	TopicVersion    = "version"
	TopicImage      = "image"
	TopicPermission = "permission"
	TopicCRD        = "CRD"
	TopicField      = "field"
	TopicObjects    = "objects"
)
