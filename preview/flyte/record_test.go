package flyte

import (
	"encoding/json"
	"testing"
)

// The record is a Fact by its JSON: a part that was not looked at is absent, and a part
// that was looked at and is missing is recorded so.
func TestRecordsKeepTheirJSON(t *testing.T) {
	for want, found := range map[string]record{
		`{}`:                         {},
		`{"before":{"types":{}}}`:    {Before: pluginConfig{silent: true}.record()},
		`{"operators":{},"left":{}}`: {Operators: map[string]string{}, Left: map[string]string{}},
		`{"before":{"types":{"ray":"ray"},"enabled":[]}}`:                             {Before: pluginConfig{byType: map[string]string{"ray": "ray"}}.record()},
		`{"naming":{"template":"t","domains":""},"projects":{"a":{}},"templates":{}}`: {Naming: &namingRecord{Template: "t"}, Projects: map[string]map[string]string{"a": {}}, Templates: map[string]string{}},
		`{"rights":{"a":{}},"wide":{},"misnamed":{"a":{}}}`:                           {Rights: map[string]map[string]map[string]string{"a": {}}, Wide: map[string]string{}, Misnamed: map[string]map[string]string{"a": {}}},
	} {
		data, err := json.Marshal(found)
		if err != nil || string(data) != want {
			t.Errorf("%s (%v), want %s", data, err, want)
		}
		var again record
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		was, ok := recordedTasks(again.Before)
		if ok && !sameTasks(was, pluginConfig{silent: found.Before.Enabled == nil, byType: found.Before.Types}) {
			t.Errorf("%s is read back as %+v", data, was)
		}
	}
}
