package otel

import (
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const (
	// maxModels is how many models have tokens of their own. The tokens of the others
	// are counted together.
	maxModels = 100
	// maxModelName is how many bytes of a model's name an attribute has.
	maxModelName = 100
	// otherModels is the name under which they are counted.
	otherModels = "_OTHER"
)

// spanOf returns the name of the spans of a model's turns.
func spanOf(model string) string {
	if model == "" {
		return chat
	}
	return chat + " " + model
}

// models holds the attributes of the tokens of each model: the first ones for which the
// provider reported tokens, so that a caller who makes up names makes up no attributes.
type models struct {
	mu    sync.RWMutex
	known map[string]*model
}

// model holds the attributes of the tokens of a model, by kind of turn.
type model struct{ own, continuation tokenLabels }

// tokenLabels are the attributes of tokens.
type tokenLabels struct{ input, output []metric.AddOption }

func newTokenLabels(kind, model string) tokenLabels {
	of := func(which string) []metric.AddOption {
		set := attribute.NewSet(turnKind.String(kind), tokenType.String(which), requestModel.String(model))
		return []metric.AddOption{metric.WithAttributeSet(set)}
	}
	return tokenLabels{of("input"), of("output")}
}

// tokens returns the attributes of the tokens of a turn.
func (m *models) tokens(name string, turn int) *tokenLabels {
	model := m.of(name)
	if turn == 1 {
		return &model.own
	}
	return &model.continuation
}

func (m *models) of(name string) *model {
	m.mu.RLock()
	found := m.known[name]
	m.mu.RUnlock()
	if found != nil {
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= maxModels {
		name = otherModels
	}
	if found := m.known[name]; found != nil {
		return found
	}
	shown := strings.ToValidUTF8(name[:min(len(name), maxModelName)], "?")
	added := &model{own: newTokenLabels(kindOwn, shown), continuation: newTokenLabels(kindContinuation, shown)}
	if m.known == nil {
		m.known = make(map[string]*model)
	}
	m.known[strings.Clone(name)] = added
	return added
}
