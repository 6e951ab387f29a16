"""People's ratings of answers, and the whole analysis of a study of them, after CaLMQA (Section 4 and Appendix D)."""
