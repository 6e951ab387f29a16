"""Long answers: surface, facts and relevance, after CaLMQA and VeriScore."""
