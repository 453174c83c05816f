package review

import (
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// choosable reports whether enter plans with the setting of the selected row.
func (m *tabPanel) choosable() bool {
	return m.opts.Choose != nil && m.opts.Resolve != nil && m.tab == tabs.Summary && strings.HasPrefix(m.activeTab().selected().ID, tabs.SettingPrefix)
}

// settingKey plans again with the setting of the selected row, or without those that
// were chosen before. It reports whether the key was that.
func (m *review) settingKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	if !m.choosable() || !key.Matches(msg, m.keys.Open) {
		return nil, false
	}
	id := m.activeTab().selected().ID
	m.choice = nil
	if at, err := strconv.Atoi(strings.TrimPrefix(id, tabs.SettingPrefix)); id != tabs.SettingBack && err == nil {
		m.choice = slices.Concat(m.Chosen, m.Plan.Verdict.Mitigations[at].Flags)
	}
	m.opts.Choose(m.choice)
	return m.planAgain(), true
}

// endChoice notes whether the plan with the settings that were chosen is shown now.
func (m *review) endChoice(planned bool) {
	if planned {
		m.Chosen = m.choice
		return
	}
	m.choice = m.Chosen
	if m.opts.Choose != nil {
		m.opts.Choose(m.Chosen)
	}
}
