package preview

import (
	"fmt"
	"strings"
)

// Verdict is the summary of a plan: whether it can be applied at all, and what it
// changes. It follows from the rest of the plan and is no fact.
type Verdict struct {
	// Sentence says in one sentence what the plan would do.
	Sentence string `json:"sentence"`
	// Obstacles lists what prevents the plan from being applied, whatever is accepted;
	// empty where nothing does.
	Obstacles []Obstacle `json:"obstacles"`
	// Changes lists what the plan changes of what is installed, the most
	// important first; empty where nothing is installed.
	Changes []Highlight `json:"changes"`
	// OtherFields counts the changed fields that changes does not list.
	OtherFields int `json:"otherFields"`
	// Groups lists the findings as every output numbers and counts them: those about one
	// account or one CRD are one group, with the severity of the worst.
	Groups []FindingGroup `json:"groups"`
	// Mitigations lists other settings that let the content need fewer rights, if its format
	// knows any.
	Mitigations []Mitigation `json:"mitigations"`
}

// Mitigation is another setting that lets the content need fewer rights.
type Mitigation struct {
	// Flags are the command line flags that make the setting.
	Flags []string `json:"flags"`
	// Removes lists the labels of the groups of findings that are gone with it.
	Removes []string `json:"removes"`
	// Lowers lists the labels of the groups that are less severe with it.
	Lowers []string `json:"lowers"`
	// Critical counts the critical groups that remain with it.
	Critical int `json:"critical"`
	// Warnings counts the warnings that remain with it.
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

// FindingGroup is a group of findings that a review shows as one.
type FindingGroup struct {
	// Label is the letter of the severity and a number, such as C1.
	Label string `json:"label"`
	// Severity is the worst severity in the group.
	Severity Severity `json:"severity"`
	// Title names the account or object, and says how far its rights go or what was
	// found.
	Title string `json:"title"`
	// Findings lists the ids of the findings, the worst first.
	Findings []string `json:"findings"`
	// Evidence lists, for each of the findings, the pieces of its evidence.
	Evidence [][]string `json:"evidence"`
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
	// Cause says why, in words that follow the object's name.
	Cause string `json:"cause"`
	// Remedy says what to do about it.
	Remedy string `json:"remedy,omitempty"`
	// Flags remove the obstacle from another plan; empty if none do.
	Flags []string `json:"flags,omitempty"`
}

// Highlight is one line about what a plan changes.
type Highlight struct {
	// Topic is version, image, permission, field, CRD, objects, kept or record.
	Topic string `json:"topic"`
	// Who names the object that changes, or the account whose permissions do, as KIND NAME;
	// absent for a change of the whole release.
	Who string `json:"who,omitempty"`
	// Gained is true if Who gains the permission, absent if it loses it.
	Gained bool `json:"gained,omitempty"`
	// What describes the change.
	What string `json:"what"`
	// Text is the line, made of the other fields.
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
	TopicKept       = "kept"
	TopicRecord     = "record" // where the plan writes no object
)
