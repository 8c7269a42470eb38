package otel

import "go.opentelemetry.io/otel/attribute"

// Attribute names from the conventions for generative AI and for errors.
const (
	operationName   = attribute.Key("gen_ai.operation.name")
	providerName    = attribute.Key("gen_ai.provider.name")
	requestModel    = attribute.Key("gen_ai.request.model")
	requestStream   = attribute.Key("gen_ai.request.stream")
	conversationID  = attribute.Key("gen_ai.conversation.id")
	responseID      = attribute.Key("gen_ai.response.id")
	responseModel   = attribute.Key("gen_ai.response.model")
	finishReasons   = attribute.Key("gen_ai.response.finish_reasons")
	timeToFirst     = attribute.Key("gen_ai.response.time_to_first_chunk")
	inputTokens     = attribute.Key("gen_ai.usage.input_tokens")
	outputTokens    = attribute.Key("gen_ai.usage.output_tokens")
	cachedTokens    = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	reasoningTokens = attribute.Key("gen_ai.usage.reasoning.output_tokens")
	errorType       = attribute.Key("error.type")
	// exceptionMessage is the key of an error's text.
	exceptionMessage = attribute.Key("exception.message")
	tokenType        = attribute.Key("gen_ai.token.type")

	chat = "chat" // the operation
)

// carryon's own attribute names, for which no convention exists.
const (
	turn          = attribute.Key("carryon.turn")
	turnKind      = attribute.Key("carryon.turn.kind")
	attempt       = attribute.Key("carryon.attempt")
	wait          = attribute.Key("carryon.wait")
	turns         = attribute.Key("carryon.turns")
	continuations = attribute.Key("carryon.continuations")
	continued     = attribute.Key("carryon.continued")
	reason        = attribute.Key("carryon.reason")
	continueKey   = attribute.Key("carryon.continue")
	conditions    = attribute.Key("carryon.conditions")
	dryRun        = attribute.Key("carryon.dry_run")
	holdout       = attribute.Key("carryon.holdout")
	todosTotal    = attribute.Key("carryon.todos")
	todosActive   = attribute.Key("carryon.todos.active")
	todoID        = attribute.Key("carryon.todo.id")
	todoContent   = attribute.Key("carryon.todo.content")
	pauseReason   = attribute.Key("carryon.pause.reason")
	prompt        = attribute.Key("carryon.prompt")
	taskCount     = attribute.Key("carryon.tasks")
	operation     = attribute.Key("carryon.operation")
	result        = attribute.Key("carryon.result")
)

// Values of turnKind.
const (
	kindOwn          = "own"
	kindContinuation = "continuation"
)

// Histograms of the conventions. Version 1.41 is the last one within OpenTelemetry's common conventions, which most
// dashboards know.
const (
	durationMetric   = "gen_ai.client.operation.duration"
	firstChunkMetric = "gen_ai.client.operation.time_to_first_chunk"
)
