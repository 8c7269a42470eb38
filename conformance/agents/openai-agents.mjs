// An agent made with OpenAI's Agents SDK, which finds its model through
// OPENAI_BASE_URL. node openai-agents.mjs responses|chat TASK
import { Agent, run, setOpenAIAPI, setTracingDisabled, tool } from "@openai/agents";
import { mode, task, todoWrite, writeFile } from "./tools.mjs";

setTracingDisabled(true);
if (mode === "chat") setOpenAIAPI("chat_completions");
const toolOf = ({ name, description, schema, run: execute }) => tool({ name, description, parameters: schema, execute });

const agent = new Agent({
  name: "builder",
  instructions: "You build pages.",
  model: "gpt-5",
  tools: [toolOf(todoWrite), toolOf(writeFile)],
});
const result = await run(agent, task, { stream: true, maxTurns: 30 });
for await (const text of result.toTextStream()) process.stdout.write(text);
await result.completed;
process.stdout.write("\n");
